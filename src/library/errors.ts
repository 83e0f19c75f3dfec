import { EXIT, SignalboxError } from "../base/errors.ts";
import { StoreError } from "../etcd/store.ts";

// Every error of the library, to be told apart by class or `code`. Those of other rooms are shown under the same roof.

export { ConfigError, SignalboxError, UsageError } from "../base/errors.ts";
export { CronError } from "../schedule/cron.ts";
export {
  AlreadyExistsError,
  AlreadyFinishedError,
  NotFoundError,
  NotSupportedError,
  PreemptedError,
} from "../schedule/errors.ts";
export { BusyError, ClaimLostError } from "../work/run/claim-errors.ts";

/** etcd does not answer, or accepts no writes. */
export class UnreachableError extends SignalboxError {
  readonly code = "UNREACHABLE";
  constructor(message: string, options?: { cause?: unknown }) {
    super(EXIT.unreachable, message, options);
  }
}

/** etcd refused the credentials, or what they allow. */
export class PermissionError extends SignalboxError {
  readonly code = "PERMISSION";
  constructor(message: string, options?: { cause?: unknown }) {
    super(EXIT.permission, message, options);
  }
}

/** The connection was closed before. */
export class ClosedError extends SignalboxError {
  readonly code = "CLOSED";
  constructor(message: string) {
    super(EXIT.usage, message);
  }
}

/** etcd refused a call for a reason that is none of the others. */
export class EtcdError extends SignalboxError {
  readonly code = "ETCD";
  constructor(message: string, options?: { cause?: unknown }) {
    super(EXIT.internal, message, options);
  }
}

/** Runs a call; what etcd says against it is thrown as one of the errors above. */
export async function translated<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw error instanceof StoreError ? errorOf(error) : error;
  }
}

function errorOf(cause: StoreError): SignalboxError {
  const { kind, message } = cause;
  switch (kind) {
    case "unavailable":
      return new UnreachableError(`etcd cannot be reached: ${message}`, { cause });
    case "noSpace":
      return new UnreachableError(`etcd has no space left and accepts no writes: ${message}`, { cause });
    case "unauthenticated":
      return new PermissionError(`etcd refused the credentials: ${message}`, { cause });
    case "permission":
      return new PermissionError(`etcd refused the permission: ${message}`, { cause });
    default:
      return new EtcdError(`etcd refused a call (${kind}): ${message}`, { cause });
  }
}
