import { formatDuration } from "../base/duration.ts";
import { ConfigError } from "../base/errors.ts";
import { clean } from "../base/text.ts";
import type { SettingKey, Settings } from "./settings.ts";
import {
  canTerminateWithin,
  computeLargestTermination,
  computeRenewalPeriod,
  computeSafetyMargin,
  computeSmallestTtl,
} from "./ttl.ts";

// Checks that involve more than one setting.

interface SettingsWithSources {
  readonly values: Settings;
  readonly sources: Readonly<Record<SettingKey, string>>;
}

/** Checks that the command has time to end before the session can expire. @throws ConfigError with the numbers */
export function checkTermination({ values, sources }: SettingsWithSources): void {
  const { ttl, terminationTimeout } = values;
  if (canTerminateWithin(terminationTimeout, ttl)) return;
  const [margin, renewal] = [
    formatDuration(computeSafetyMargin(ttl)),
    formatDuration(computeRenewalPeriod(ttl)),
  ];
  throw new ConfigError(
    `terminationTimeout ${formatDuration(terminationTimeout)} (${clean(sources.terminationTimeout)}) does not fit into ` +
      `ttl ${formatDuration(ttl)} (${clean(sources.ttl)}): with a margin of ${margin} and ${renewal} between renewals, ` +
      `set it to ${formatDuration(computeLargestTermination(ttl))} or less, or set ttl to ${formatDuration(computeSmallestTtl(terminationTimeout))} or more`,
  );
}

/**
 * Checks the TLS settings.
 * @throws ConfigError for a certificate without key or a key without certificate, and for TLS files with an address
 *   that does not use TLS
 */
export function checkTls({ values, sources }: SettingsWithSources): void {
  const { cert, key, endpoints } = values;
  const plain = endpoints.find((endpoint) => endpoint.startsWith("http://"));
  const file = (["cacert", "cert", "key"] as const).find((name) => values[name] !== undefined);
  if (plain !== undefined && file !== undefined) {
    throw new ConfigError(
      `${file} is set (${clean(sources[file])}), but ${plain} (${clean(sources.endpoints)}) does not use TLS; ` +
        `write https://, or remove ${file}`,
    );
  }
  if ((cert === undefined) === (key === undefined)) return;
  const [there, missing] = cert === undefined ? (["key", "cert"] as const) : (["cert", "key"] as const);
  throw new ConfigError(
    `${there} is set (${clean(sources[there])}), but ${missing} is not; a certificate needs both`,
  );
}

/**
 * Checks the login.
 * @throws ConfigError for a user without password or a password without user, and for a password that would be sent
 *   without TLS
 */
export function checkLogin({ values, sources }: SettingsWithSources): void {
  const { user, password, endpoints, allowPlaintextPassword } = values;
  if (user === undefined && password === undefined) return;
  if (user === undefined)
    throw new ConfigError(`a password is set (${clean(sources.password)}), but no user; set user too`);
  if (password === undefined) {
    throw new ConfigError(
      `user is set (${clean(sources.user)}), but no password; set passwordFile, or SIGNALBOX_PASSWORD`,
    );
  }
  const plain = endpoints.find((endpoint) => !endpoint.startsWith("https://"));
  if (plain === undefined || allowPlaintextPassword) return;
  throw new ConfigError(
    `the password would be sent to ${plain} (${clean(sources.endpoints)}) without TLS; use https://, ` +
      "or allow it with --allow-plaintext-password",
  );
}

/**
 * Adds a scheme to addresses without one, which etcdctl also accepts: https if any TLS setting is set, otherwise http.
 */
export function addSchemes(endpoints: readonly string[], values: Settings): readonly string[] {
  const tls = values.cacert !== undefined || values.cert !== undefined || values.insecureSkipTlsVerify;
  return endpoints.map((one) => (one.includes("://") ? one : `${tls ? "https" : "http"}://${one}`));
}
