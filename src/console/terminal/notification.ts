import { cleanToWidth } from "../../base/display-width.ts";

/** The ways to reach a user who looks elsewhere. */
export interface NotificationChannels {
  bell: boolean;
  desktop: boolean;
  title: boolean;
}

export type NotifySetting = "all" | "bell" | "desktop" | "title" | "off";

/** Returns the ways that are wanted and that the terminal is known to survive. */
export function chooseChannels(
  notify: NotifySetting,
  term: string | undefined,
  isPlain: boolean,
): NotificationChannels {
  const isSimple = isPlain || term === undefined || /^(linux|dumb|cons25|vt\d+)/.test(term);
  const wants = (one: NotifySetting) => notify === "all" || notify === one;
  return { bell: wants("bell"), desktop: !isSimple && wants("desktop"), title: !isSimple && wants("title") };
}

/** Ends a string sequence. Unlike BEL, it rings nowhere. */
const END = "\x1b\\";

/** Formats the sequences of a notification for the desktop: OSC 9, and OSC 777 of other terminals. */
export function formatDesktopNotification(text: string): string {
  const shown = toTitleText(text);
  // The name comes first, because "9;4;…" would be a progress bar.
  return `\x1b]9;signalbox: ${shown}${END}\x1b]777;notify;signalbox;${shown.replaceAll(";", ",")}${END}`;
}

/** Stores the title of the window in the terminal, and restores it. */
export const PUSH_TITLE = "\x1b[22;2t";
export const POP_TITLE = "\x1b[23;2t";

/** Formats the sequence that sets the title of the window. */
export function formatWindowTitle(text: string): string {
  return `\x1b]2;${toTitleText(text)}${END}`;
}

/** Texts come from etcd: nothing in them may end the sequence, or begin another one. */
function toTitleText(text: string): string {
  return cleanToWidth(text, 120).replace(/[\p{C}]/gu, "");
}
