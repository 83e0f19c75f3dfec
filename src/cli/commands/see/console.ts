import {
  CONNECTION_SETTINGS,
  declareCommand,
  declareFlags,
  type FlagsOf,
  LOGGING_SETTINGS,
} from "../../frame/command.ts";

const CONSOLE_FLAGS = declareFlags({
  "--once": "print one text screen and exit; needs no terminal",
  "--plain": "plain lines without frames, signs or animation: for screen readers, and with TERM=dumb",
  "--ascii": "only ASCII characters",
  "--view VIEW": "start with this view, such as queues",
  "--size COLSxROWS": "with --once: size of the screen, such as 160x50",
});

export type ConsoleFlags = FlagsOf<typeof CONSOLE_FLAGS>;

/** The console is a separate bundle, because it loads modules that no other command needs; `bin` starts it. */
export const consoleCommand = declareCommand({
  id: "console",
  topic: "See",
  brief: "watch and operate everything on one screen",
  about: [
    "Shows who holds what, who waits and why, and what a change would affect. Resets, drains and configures after a" +
      " preview. Press ? for the keys, : for all actions. On a terminal, signalbox without arguments opens it too.",
    "The display is live, or shows since when it is not. The layout, the order of rows and saved views are kept for each cluster, in" +
      " $XDG_STATE_HOME/signalbox.",
  ],
  flags: CONSOLE_FLAGS,
  settings: [
    ...CONNECTION_SETTINGS,
    ...LOGGING_SETTINGS,
    "host",
    "readOnly",
    "theme",
    "mouse",
    "hyperlinks",
    "notify",
  ],
  examples: {
    "signalbox console": "everything on one screen",
    "signalbox console --read-only": "without changes",
    "signalbox console --once --view queues": "one text screen, for a mail or a terminal without cursor",
  },
});
