import { ConfigError } from "../../base/errors.ts";

/**
 * Loads the npm package etcd3. It is an optional dependency, so an installation may lack it.
 * @throws ConfigError when it cannot be loaded
 */
export async function loadEtcd3(): Promise<typeof import("etcd3")> {
  try {
    return await import("etcd3");
  } catch (cause) {
    const [reason] = String((cause as Error).message).split("\n"); // the next lines name the files that required it
    throw new ConfigError(
      `the transport grpc needs the npm package etcd3, which cannot be loaded (${reason}); ` +
        "install it (npm install etcd3), or set the transport to http",
      { cause },
    );
  }
}
