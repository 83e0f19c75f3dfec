import { buildValueFault, type SettingKind } from "./setting-kinds.ts";

const WAYS = ["bell", "desktop", "title"] as const;
const WORDS = ["all", ...WAYS, "off"] as const;

/** A way to tell the user outside the console's screen; `all` and `off` stand alone. */
export type NotifyWay = (typeof WORDS)[number];

/** Ways to notify: `all`, `off`, or some of the others, as a list or separated by commas. */
export const notifyWays: SettingKind<readonly NotifyWay[]> = {
  name: "all|off|bell,desktop,title",
  parse(given) {
    const lists = Array.isArray(given) ? given : [given];
    const words: unknown[] = lists.flatMap((one) =>
      typeof one === "string" ? one.split(",").map((word) => word.trim()) : [one],
    );
    const bad = words.find((word) => !isNotifyWay(word));
    if (bad !== undefined || words.length === 0)
      return buildValueFault(
        words.length === 0 ? given : bad,
        `one of ${WORDS.join(", ")}; use off for none`,
      );
    const ways = [...new Set(words.filter(isNotifyWay))];
    const alone = ways.find((way) => way === "all" || way === "off");
    return alone === undefined || ways.length === 1
      ? { value: ways }
      : buildValueFault(given, `a choice: ${alone} excludes the others; leave it out, or give it alone`);
  },
  show: (value) => value.join(","),
};

function isNotifyWay(word: unknown): word is NotifyWay {
  return WORDS.some((one) => one === word);
}
