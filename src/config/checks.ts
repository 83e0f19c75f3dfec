import { formatDuration } from "../base/duration.ts";
import { ConfigError } from "../base/errors.ts";
import { clean } from "../base/text.ts";
import type { SettingKey, Settings } from "./settings.ts";
import { fits, largestTermination, marginOf, renewalPeriod, smallestTtl } from "./ttl.ts";

// What one value cannot tell about itself.

interface Checkable {
  readonly values: Settings;
  readonly sources: Readonly<Record<SettingKey, string>>;
}

/** The command must have its time to end before the session can have expired. @throws ConfigError with the numbers */
export function checkTermination({ values, sources }: Checkable): void {
  const { ttl, terminationTimeout } = values;
  if (fits(terminationTimeout, ttl)) return;
  const [margin, renewal] = [formatDuration(marginOf(ttl)), formatDuration(renewalPeriod(ttl))];
  throw new ConfigError(
    `terminationTimeout ${formatDuration(terminationTimeout)} (${clean(sources.terminationTimeout)}) does not fit into ` +
      `ttl ${formatDuration(ttl)} (${clean(sources.ttl)}): less a margin of ${margin} and the ${renewal} between renewals, ` +
      `the largest that fits is ${formatDuration(largestTermination(ttl))}; or set ttl to ${formatDuration(smallestTtl(terminationTimeout))} or more`,
  );
}

/** @throws ConfigError for half of a certificate */
export function checkTls({ values: { cert, key }, sources }: Checkable): void {
  if ((cert === undefined) === (key === undefined)) return;
  const [there, missing] = cert === undefined ? (["key", "cert"] as const) : (["cert", "key"] as const);
  throw new ConfigError(
    `${there} is set (${clean(sources[there])}), but ${missing} is not; a certificate needs both`,
  );
}

/** @throws ConfigError for half of a login, and for a password that would cross the network in the clear */
export function checkLogin({ values, sources }: Checkable): void {
  const { user, password, endpoints, allowPlaintextPassword } = values;
  if (user === undefined && password === undefined) return;
  if (user === undefined)
    throw new ConfigError(`a password is set (${clean(sources.password)}), but no user`);
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

/** Addresses without scheme, as etcdctl takes them, get https where anything about TLS is set. */
export function withSchemes(endpoints: readonly string[], values: Settings): readonly string[] {
  const tls = values.cacert !== undefined || values.cert !== undefined || values.insecureSkipTlsVerify;
  return endpoints.map((one) => (one.includes("://") ? one : `${tls ? "https" : "http"}://${one}`));
}
