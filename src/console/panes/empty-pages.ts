import { formatBriefDuration } from "../../base/duration.ts";
import { wrapProseLines } from "../../commands/see/detail.ts";
import type { CommandContext } from "../../commands/store-command.ts";
import { NOT_READ_YET } from "../data/live-view.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import type { RowModel } from "../theme/cells.ts";
import type { StyleRole } from "../theme/roles.ts";

/** Settings that decide how etcd is reached. Of the unset ones, only the endpoints are shown. */
const REACHING: readonly (keyof ConsoleParts["context"]["config"]["sources"])[] = [
  "endpoints",
  "transport",
  "prefix",
  "user",
  "cacert",
  "cert",
];

/** Builds the page for an unread cluster: the fault, the settings in use with their sources, and what to set. */
export function buildUnknownPage(app: ConsoleParts, width: number): RowModel[] {
  const { kind, fault, since } = app.liveView.connection;
  const look = app.theme.createLook(width - 2);
  const wrap = (...texts: string[]) => wrapProseLines(texts, look).map((line) => createPageRow(line));
  const blank = createPageRow("");
  return [
    createPageRow(NOT_READ_YET, kind === "opening" ? "heading" : "problem"),
    blank,
    ...(fault === undefined ? [] : wrap(`why: ${fault}`)),
    ...wrap(
      `trying for ${formatBriefDuration(app.getPresentTime() - since)}; retries continue until it works`,
    ),
    blank,
    ...wrap(...listSettingLines(app.context)),
    blank,
    ...(kind === "opening" ? [] : wrap(...listAdviceLines(kind === "refused"))),
  ];
}

/** Builds the page for a cluster that was read and on which nothing has run yet. */
export function buildWelcomePage(app: ConsoleParts, width: number): RowModel[] {
  const { theme, context, liveView } = app;
  const isFresh = liveView.hasRead && Object.values(app.getTabCounts()).every((count) => count === 0);
  if (!isFresh) return [];
  const lines = [
    "",
    `Nothing has ever run under ${context.settings.prefix} here. To begin, in another terminal:`,
    "  signalbox run --lock hello -- sleep 60",
    "  signalbox schedule add hello '* * * * *' -- date   and   signalbox worker",
    "  signalbox init      checks etcd and this host, and prints what to set",
    "Keys: ? help, : all commands and names, q quit.",
  ];
  return wrapProseLines(lines, theme.createLook(width - 2)).map((line) => createPageRow(line, "quiet"));
}

/** Builds a row with a margin at its left. */
export function createPageRow(text: string, role?: StyleRole): RowModel {
  return { cells: [{ text: " " }, { text, role }] };
}

function listSettingLines(context: CommandContext): string[] {
  const { values, sources } = context.config;
  return REACHING.flatMap((key) => {
    const source = sources[key];
    const value = values[key];
    if (source === "default" && key !== "endpoints") return [];
    return [`${key}: ${Array.isArray(value) ? value.join(", ") : String(value)}   (${source})`];
  });
}

function listAdviceLines(isRefused: boolean): string[] {
  const what = isRefused
    ? "etcd refuses access. Set the user and the password: SIGNALBOX_USER and SIGNALBOX_PASSWORD, or user and " +
      "passwordFile in the configuration file; or a client certificate: cert and key. Roles: docs/etcd.md"
    : "To use another etcd: SIGNALBOX_ENDPOINTS=http://etcd1:2379,http://etcd2:2379, or endpoints in " +
      "/etc/signalbox/config.json or ~/.config/signalbox/config.json; with TLS: https:// and cacert";
  return [
    what,
    "signalbox doctor checks all of this; signalbox config shows every setting and where it comes from",
  ];
}
