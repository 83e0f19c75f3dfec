import { formatBriefDuration } from "../../base/duration.ts";
import { wrapProseLines } from "../../commands/see/detail.ts";
import type { App } from "../app.ts";

/** Shown in place of rows until something was read. An unread cluster is not an empty one. */
export const NOT_READ_YET = "Not known yet: etcd has not been read.";

/** Settings that decide how etcd is reached. Of the unset ones, only the endpoints are shown. */
const REACHING: readonly (keyof App["context"]["config"]["sources"])[] = [
  "endpoints",
  "transport",
  "prefix",
  "user",
  "cacert",
  "cert",
];

/** Renders the page for an unread cluster: the fault, the settings in use with their sources, and what to set. */
export function renderUnknownPage(app: App, width: number): string[] {
  const { theme, liveView } = app;
  const { kind, fault } = liveView.connection;
  const look = theme.createLook(width - 2);
  const wrapProse = (text: string) => wrapProseLines([text], look);
  return [
    theme.style(kind === "opening" ? "heading" : "problem", NOT_READ_YET),
    "",
    ...(fault === undefined ? [] : wrapProse(`why: ${fault}`)),
    ...wrapProse(
      `tried for ${formatBriefDuration(app.getWallTime() - liveView.connection.since)}, and tried again until it works`,
    ),
    "",
    ...listSettingLines(app).flatMap(wrapProse),
    "",
    ...(kind === "opening" ? [] : listAdviceLines(kind === "refused").flatMap(wrapProse)),
  ].map((line) => ` ${line}`);
}

/** Renders the page for a cluster that was read and on which nothing has run yet. */
export function renderWelcomePage(app: App, width: number): string[] {
  const { theme, context, liveView } = app;
  const isFresh = liveView.hasRead && Object.values(app.getTabCounts()).every((count) => count === 0);
  if (!isFresh) return [];
  const lines = [
    "",
    `Nothing has ever run under ${context.settings.prefix} here. To begin, in another terminal:`,
    "  signalbox run --lock hello -- sleep 60",
    "  signalbox schedule add hello '* * * * *' -- date   and   signalbox worker",
    "  signalbox init      examines etcd and this host, and says what to set",
    "Keys: ? help, : everything by its name, q quit.",
  ];
  return wrapProseLines(lines, theme.createLook(width - 2)).map((line) => ` ${theme.style("quiet", line)}`);
}

function listSettingLines({ context }: App): string[] {
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
    ? "etcd answers and refuses. Set the user and its password: SIGNALBOX_USER and SIGNALBOX_PASSWORD, or user and " +
      "passwordFile in the configuration file; or a client certificate: cert and key. Roles: docs/etcd.md"
    : "If etcd is elsewhere: SIGNALBOX_ENDPOINTS=http://etcd1:2379,http://etcd2:2379, or endpoints in " +
      "/etc/signalbox/config.json or ~/.config/signalbox/config.json; with TLS: https:// and cacert";
  return [
    what,
    "signalbox doctor examines all of this; signalbox config shows every setting and where it comes from",
  ];
}
