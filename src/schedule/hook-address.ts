/** Services whose messages signalbox can write. `FORMAT+URL` is the address of one. */
const HOOK_FORMATS = ["slack", "teams", "ntfy", "pagerduty"] as const;
export type HookFormat = (typeof HOOK_FORMATS)[number];

/** Where a hook sends its message. `json`: the JSON document of hooks. The URL may contain `{event}`. */
type HookAddress =
  | { format: "json" | HookFormat; url: string }
  | { format: "mail"; recipients: readonly string[] };

/** How an address is written, for messages. */
export const HOOK_ADDRESS_FORM = `https://…, ${HOOK_FORMATS.map((one) => `${one}+https://…`).join(", ")} or mailto:ADDRESS`;

/** Returns whether a hook is meant as an address, also one that is not possible, and not as a command line. */
export function resemblesHookAddress(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/|^mailto:/i.test(text);
}

/**
 * Parses the address of a hook: an http or https URL, `FORMAT+URL`, or `mailto:` with addresses separated by commas. Call
 * this when a hook is entered or called, not when a definition is read: an invalid hook must not stop a schedule.
 * @returns undefined if it is none
 */
export function parseHookAddress(text: string): HookAddress | undefined {
  const [, list] = /^mailto:(.*)$/is.exec(text) ?? [];
  if (list !== undefined) return parseRecipients(list);
  const [, name, url = ""] = /^(?:([a-z]+)\+)?(https?:\/\/.*)$/is.exec(text) ?? [];
  const format = name === undefined ? "json" : HOOK_FORMATS.find((one) => one === name.toLowerCase());
  return format !== undefined && URL.canParse(url) ? { format, url } : undefined;
}

function parseRecipients(list: string): HookAddress | undefined {
  const recipients = list.split(",");
  return recipients.every((one) => /^[^\s,<>"\\?&%-][^\s,<>"\\?&%]*$/.test(one))
    ? { format: "mail", recipients }
    : undefined;
}
