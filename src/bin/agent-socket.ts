import { serveSocket } from "../agent/socket-thread.ts";

/** The thread of `signalbox agent` that owns its socket. */
void serveSocket();
