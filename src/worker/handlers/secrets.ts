import { ConfigError } from "../../core/base/errors.ts";
import { readFileWithMode, readSecretLine, readSecretText } from "../../core/config/files.ts";
import type { SecretSpec } from "../file/secret-schema.ts";

/** The value of a secret, and the texts that must not appear in output. */
export interface SecretValue {
  value: string;
  masks: readonly string[];
}

/** A shorter line of a secret of several lines, such as `{`, is not masked. */
const SHORTEST_MASKED_LINE = 8;

/**
 * Reads a secret that is one line. Call it for every task: files change.
 * @param named  where the worker's file names it, for messages
 * @throws ConfigError when a file is missing, not private, or not one line
 */
export function readSecretValue(spec: SecretSpec, named: string): SecretValue {
  const secret = readSecretLine(getPath(spec), readFileWithMode, { ...describe(spec, named) });
  return { value: spec.prefix + secret, masks: [secret, ...listCredentials(secret)] };
}

/** Reads a secret for a file, which may have several lines. @throws ConfigError as `readSecretValue` */
export function readSecretFile(spec: SecretSpec, named: string): SecretValue {
  const text = readSecretText(getPath(spec), readFileWithMode, describe(spec, named));
  const lines = text.split(/\r?\n/).filter((line) => line !== "");
  const masks = lines.filter((line) => lines.length === 1 || line.length >= SHORTEST_MASKED_LINE);
  return { value: spec.prefix + text, masks };
}

function describe({ credential }: SecretSpec, named: string) {
  // Of a credential, systemd says who may read it: the mode shows the access list as permissions of the group.
  return { named, what: "the secret", isGuarded: credential !== undefined };
}

function getPath({ file }: SecretSpec): string {
  if (file === undefined) throw new ConfigError("a credential has no folder");
  return file;
}

/** Returns the part after the scheme of a value such as `Bearer TOKEN`. */
function listCredentials(secret: string): string[] {
  const [, credentials] = /^[A-Za-z][\w-]* +(\S.*)$/.exec(secret) ?? [];
  return credentials === undefined ? [] : [credentials];
}
