import { chooseChannels, type NotificationChannels, type NotifySetting } from "./terminal/notification.ts";

/** Returns the channels of all chosen ways that the terminal is known to survive. Parameters as in `chooseChannels`. */
export function combineChannels(
  ways: readonly NotifySetting[],
  term: string | undefined,
  isPlain: boolean,
): NotificationChannels {
  const all = ways.map((way) => chooseChannels(way, term, isPlain));
  const has = (channel: keyof NotificationChannels) => all.some((one) => one[channel]);
  return { bell: has("bell"), desktop: has("desktop"), title: has("title") };
}
