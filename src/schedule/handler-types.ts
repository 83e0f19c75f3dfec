import { type Definition, getScheduleType } from "./definition.ts";

/** Type in a worker record: the worker runs schedules that have their own command. */
export const COMMAND_TYPE = "$command";

/** Returns the type in a worker record: the worker runs commands as this user. */
export function getUserType(user: string): string {
  return `${COMMAND_TYPE}:${user}`;
}

/**
 * Lists the types in a worker record: the worker gives commands this secret.
 * @param schedules  names of the schedules that get it; with `*` at the end, of all that begin so. Default: all
 */
export function listSecretTypes(name: string, schedules?: readonly string[]): string[] {
  const type = `$secret:${name}`;
  return schedules?.map((pattern) => `${type}@${pattern}`) ?? [type];
}

/** Returns whether a worker gives a secret to commands of a schedule. */
function hasSecret(types: readonly string[], name: string, id: string): boolean {
  const [type = ""] = listSecretTypes(name);
  return types.some((one) => {
    if (!one.startsWith(`${type}@`)) return one === type;
    const pattern = one.slice(type.length + 1);
    return pattern.endsWith("*") ? id.startsWith(pattern.slice(0, -1)) : id === pattern;
  });
}

const getCommandType = ({ runAs }: Definition) => (runAs === undefined ? COMMAND_TYPE : getUserType(runAs));

const listSecrets = ({ secrets = {}, secretFiles = {} }: Definition): readonly string[] =>
  [secrets, secretFiles].flatMap(Object.values);

/** Returns a text that is the same for schedules that the same workers can handle. */
export function getHandlerKind(id: string, definition: Definition): string {
  if (definition.command === undefined) return JSON.stringify(getScheduleType(id, definition));
  const secrets = listSecrets(definition);
  return JSON.stringify([getCommandType(definition), ...(secrets.length === 0 ? [] : [id, ...secrets])]);
}

const TYPE_PATTERN = /^\/(.*)\/$/s;

/**
 * Creates a matcher for a handler type: an exact name, or a `/regular expression/`.
 * @throws SyntaxError
 */
export function createTypeMatcher(type: string): (type: string) => boolean {
  const pattern = TYPE_PATTERN.exec(type)?.[1];
  if (pattern === undefined) return (one) => one === type;
  const expression = new RegExp(pattern);
  return (one) => expression.test(one);
}

/** Returns whether a worker with handlers for these types can run a schedule. An invalid expression matches nothing. */
export function canHandle(types: readonly string[], id: string, definition: Definition): boolean {
  if (definition.command !== undefined)
    return (
      types.includes(getCommandType(definition)) &&
      listSecrets(definition).every((name) => hasSecret(types, name, id))
    );
  const wanted = getScheduleType(id, definition);
  return types.some((type) => {
    try {
      return createTypeMatcher(type)(wanted);
    } catch {
      return false;
    }
  });
}
