import { type Definition, getScheduleType } from "./definition.ts";

/** Type in a worker record: the worker runs schedules that have their own command. */
export const COMMAND_TYPE = "$command";

/** Returns the type in a worker record: the worker runs commands as this user. */
export function getUserType(user: string): string {
  return `${COMMAND_TYPE}:${user}`;
}

/** Returns the type in a worker record: the worker gives commands this secret. */
export function getSecretType(name: string): string {
  return `$secret:${name}`;
}

/** Lists what a worker must have for the command of a schedule, as types in its record. */
function listCommandTypes({ runAs, secrets = {}, secretFiles = {} }: Definition): readonly string[] {
  const command = runAs === undefined ? COMMAND_TYPE : getUserType(runAs);
  return [command, ...[secrets, secretFiles].flatMap(Object.values).map(getSecretType)];
}

/** Returns a text that is the same for schedules that the same workers can handle. */
export function getHandlerKind(id: string, definition: Definition): string {
  const wanted =
    definition.command === undefined ? getScheduleType(id, definition) : listCommandTypes(definition);
  return JSON.stringify(wanted);
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
    return listCommandTypes(definition).every((type) => types.includes(type));
  const wanted = getScheduleType(id, definition);
  return types.some((type) => {
    try {
      return createTypeMatcher(type)(wanted);
    } catch {
      return false;
    }
  });
}
