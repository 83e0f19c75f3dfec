import { EXIT, SignalboxError } from "../base/errors.ts";
import { StoreError } from "../etcd/store.ts";

/** Returns the exit code of an error, and its message for people. */
export function explainError(error: unknown): { exitCode: number; message: string } {
  if (error instanceof SignalboxError) return error;
  if (!(error instanceof StoreError)) {
    return {
      exitCode: EXIT.internal,
      message: `this is a defect of signalbox: ${String(error)} (-vv prints the stack)`,
    };
  }
  const { kind, message } = error;
  switch (kind) {
    case "unavailable":
      return {
        exitCode: EXIT.unreachable,
        message: `cannot reach etcd: ${message}`,
      };
    case "otherCluster":
    case "notEtcd":
      return { exitCode: EXIT.config, message: `the setting endpoints is wrong: ${message}` };
    case "unauthenticated":
      return { exitCode: EXIT.permission, message: `etcd refused the credentials: ${message}` };
    case "permission":
      return { exitCode: EXIT.permission, message: `etcd refused the permission: ${message}` };
    case "tooLarge":
      return { exitCode: EXIT.config, message: `this is larger than etcd accepts: ${message}` };
    case "noSpace":
      return {
        exitCode: EXIT.unreachable,
        message: `etcd has no space left and accepts no writes: ${message}`,
      };
    default:
      return { exitCode: EXIT.internal, message: `etcd refused a call (${kind}): ${message}` };
  }
}
