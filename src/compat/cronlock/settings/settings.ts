import { formatDuration } from "../../../base/duration.ts";
import type { SettingKey } from "../../../config/settings.ts";
import type { CronlockOptions } from "../options.ts";
import { CODES } from "./codes.ts";
import type { SourcedValue } from "./variables.ts";

/** Requested settings, each with its source for messages. */
export type RequestedSettings = Partial<Record<SettingKey, SourcedValue>>;

/** The part of the signalbox configuration that the options build on. */
export interface SignalboxConfig {
  prefix: string;
  endpoints: readonly string[];
}

/**
 * Builds settings from options. They take precedence over all others. The front end and the translation to `signalbox
 * run` both use them.
 * @param readConfig  called only if needed, because it reads files
 */
export function buildCronlockSettings(
  parsed: CronlockOptions,
  readConfig: () => SignalboxConfig,
): RequestedSettings {
  const createSecondsSetting = (count: number, name: string) => ({
    value: formatDuration(count * 1000),
    source: parsed.getSource(name),
  });
  return {
    ...buildConnectionSettings(parsed, readConfig),
    connectTimeout: {
      ...createSecondsSetting(parsed.connectTimeout, "CRONLOCK_RECONNECT_ATTEMPTS"),
      ...(parsed.connectTimeout === 0 && { value: "100ms" }), // a single attempt without a pause still takes time
    },
    grace: createSecondsSetting(parsed.grace, "CRONLOCK_GRACE"),
    maxHold: createSecondsSetting(parsed.release, "CRONLOCK_RELEASE"),
    ...(parsed.timeout > 0 && { timeout: createSecondsSetting(parsed.timeout, "CRONLOCK_TIMEOUT") }),
    busyExitCode: { value: String(CODES.refused), source: `exit codes of ${parsed.tool}` },
  };
}

function buildConnectionSettings(
  parsed: CronlockOptions,
  readConfig: () => SignalboxConfig,
): RequestedSettings {
  const { endpoints, database, getSource } = parsed;
  const tls = getSource("CRONLOCK_TLS");
  return {
    ...(endpoints !== undefined && { endpoints }),
    ...(endpoints === undefined &&
      parsed.usesTls && { endpoints: { value: readConfig().endpoints.map(toHttps).join(","), source: tls } }),
    ...(parsed.usesTls &&
      parsed.skipsVerification && {
        insecureSkipTlsVerify: { value: "true", source: getSource("CRONLOCK_TLS_SKIP_VERIFY") },
      }),
    ...(database > 0 && {
      prefix: { value: `${readConfig().prefix}db${database}/`, source: getSource("CRONLOCK_DB") },
    }),
    ...buildLoginSettings(parsed),
  };
}

export function buildLoginSettings({ login }: CronlockOptions): RequestedSettings {
  if (login === undefined) return {};
  const { user, password, source } = login;
  return {
    ...(user !== undefined && { user: { value: user, source } }),
    password: { value: password, source },
  };
}

/** Replaces the scheme with https. */
function toHttps(endpoint: string): string {
  return `https://${endpoint.replace(/^https?:\/\//, "")}`;
}
