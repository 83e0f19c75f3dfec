/** The lean transport: etcd's JSON gateway. On the start-up path of `run`, so it loads nothing but node:net. */
import type { Credentials } from "../credentials.ts";
import type { Member } from "../member.ts";
import type { CheckedOptions } from "../options.ts";
import type { ByteCodec } from "../wire.ts";
import { plainDial, secureDial } from "./dial.ts";
import { HttpMember } from "./http-member.ts";
import { Pool } from "./pool.ts";

/** Zero bytes are left out of JSON, hence undefined. */
export const bytes: ByteCodec<string | undefined> = {
  fromKey: (key) => Buffer.from(key, "latin1").toString("base64"),
  fromText: (text) => Buffer.from(text, "utf8").toString("base64"),
  toKey: (base64) => Buffer.from(base64 ?? "", "base64").toString("latin1"),
  toText: (base64) => Buffer.from(base64 ?? "", "base64").toString("utf8"),
};

export async function openMembers(
  options: CheckedOptions,
  credentials: Credentials | undefined,
): Promise<Member[]> {
  const members = options.parsed.map(async (endpoint) => {
    const dial = endpoint.secure ? await secureDial(endpoint, options.tls) : plainDial(endpoint);
    return new HttpMember({ url: endpoint.url, pool: new Pool(dial) }, credentials);
  });
  return await Promise.all(members);
}
