import { serveSocket } from "../agent/socket-thread.ts";

/** The thread of `signalbox agent` that has its socket. */
void serveSocket();
