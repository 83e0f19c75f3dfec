import { formatDuration } from "../../base/duration.ts";
import type { SettingKey } from "../../config/settings.ts";
import { CODES } from "./codes.ts";
import type { Variable } from "./variables.ts";
import type { Wish } from "./wish.ts";

/** Settings as they are asked for, each with the words for where it stood. */
export type Asked = Partial<Record<SettingKey, Variable>>;

/** What the site's own configuration says, as far as a wish builds on it. */
export interface Own {
  prefix: string;
  endpoints: readonly string[];
}

/**
 * A wish as settings, before all others: those of the front end, and of the same line for `signalbox run`.
 * @param own  asked for only where it is needed: it costs reading files
 */
export function settingsOf(wish: Wish, own: () => Own): Asked {
  const seconds = (count: number, name: string) => ({
    value: formatDuration(count * 1000),
    source: wish.sourceOf(name),
  });
  return {
    ...connectionOf(wish, own),
    connectTimeout: { ...seconds(wish.patience, "CRONLOCK_RECONNECT_ATTEMPTS"), ...leastPatience(wish) },
    grace: seconds(wish.grace, "CRONLOCK_GRACE"),
    maxHold: seconds(wish.release, "CRONLOCK_RELEASE"),
    ...(wish.timeout > 0 && { timeout: seconds(wish.timeout, "CRONLOCK_TIMEOUT") }),
    busyExitCode: { value: String(CODES.refused), source: `exit codes of ${wish.tool}` },
  };
}

/** One attempt without a pause still takes its time. */
function leastPatience({ patience }: Wish): { value?: string } {
  return patience === 0 ? { value: "100ms" } : {};
}

function connectionOf(wish: Wish, own: () => Own): Asked {
  const { endpoints, login, database, sourceOf } = wish;
  const tls = sourceOf("CRONLOCK_TLS");
  return {
    ...(endpoints !== undefined && { endpoints }),
    ...(endpoints === undefined &&
      wish.usesTls && { endpoints: { value: own().endpoints.map(secured).join(","), source: tls } }),
    ...(wish.usesTls &&
      wish.skipsVerification && {
        insecureSkipTlsVerify: { value: "true", source: sourceOf("CRONLOCK_TLS_SKIP_VERIFY") },
      }),
    ...(database > 0 && {
      prefix: { value: `${own().prefix}db${database}/`, source: sourceOf("CRONLOCK_DB") },
    }),
    ...(login?.user !== undefined && { user: { value: login.user, source: login.source } }),
    ...(login !== undefined && { password: { value: login.password, source: login.source } }),
  };
}

/** With TLS, whatever the address says. */
function secured(endpoint: string): string {
  return `https://${endpoint.replace(/^https?:\/\//, "")}`;
}
