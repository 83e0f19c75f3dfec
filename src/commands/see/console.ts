import { CONNECTION_SETTINGS, type Command, LOGGING_SETTINGS } from "../spec.ts";

/** The console is a separate bundle, because it loads modules that no other command needs; `bin` starts it. */
export const consoleCommand: Command = {
  id: "console",
  topic: "See",
  brief: "watch and operate everything on one screen",
  about: [
    "Shows who holds what, who waits and why, and what happens if it is taken away; resets, drains and configures after a" +
      " preview. Press ? for the keys, : for everything it can do. Typed alone on a terminal, signalbox opens it too.",
    "What is shown is live, or says since when it is not. The layout, sorting and filters are remembered per cluster, in" +
      " $XDG_STATE_HOME/signalbox.",
  ],
  flags: [
    { name: "once", help: "print one text screen and end; needs no terminal" },
    {
      name: "plain",
      help: "one thing below the other, without frames, signs or movement: for screen readers",
    },
    { name: "ascii", help: "no signs but ASCII's" },
    { name: "view", value: "VIEW", help: "begin with this view, such as queues" },
    { name: "size", value: "COLSxROWS", help: "with --once: how large the screen is, such as 160x50" },
  ],
  settings: [...CONNECTION_SETTINGS, ...LOGGING_SETTINGS, "host", "readOnly", "theme", "mouse"],
  examples: [
    ["signalbox console", "everything on one screen"],
    ["signalbox console --read-only", "look, and change nothing"],
    ["signalbox console --once --view queues", "one text screen, for a mail or a terminal without cursor"],
  ],
};
