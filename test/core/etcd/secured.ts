/** TLS, client certificates, passwords and roles, a full database and a disabled gateway, with both transports. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Transport } from "../../../fixtures/cluster/test-namespace.ts";
import { type EtcdMember, readClientTls, startEtcd } from "../../../fixtures/etcd/index.ts";
import { open } from "../../../fixtures/etcd/served-subject.ts";
import { catchErrorKind, catchRefusal, put, watchOnce, write } from "../../../fixtures/etcd/store-calls.ts";
import { ConfigError } from "../../../src/core/base/errors.ts";
import type { StoreOptions } from "../../../src/core/etcd/options.ts";
import type { Store } from "../../../src/core/etcd/store.ts";
import { buildPrefixRange } from "../../../src/core/protocol/txn.ts";

/** Opens stores that are closed after each test. */
function createOpener(transport: Transport): (options: StoreOptions) => Promise<Store> {
  const stores: Store[] = [];
  afterEach(() => {
    for (const store of stores.splice(0)) store.close();
  });
  return async (options) => {
    const store = await open({ transport, timeouts: { total: 20_000 }, ...options });
    stores.push(store);
    return store;
  };
}

/** What a server's certificate says is settled at once, long before the deadline of a call: that would be this, ms. */
const LATE = { total: 600_000 };

export function testTls(transport: Transport): void {
  describe(`${transport} over TLS`, () => {
    let etcd: EtcdMember;
    let ca: string;
    beforeAll(async () => {
      etcd = await startEtcd({ tls: {} });
      if (!etcd.certificates) throw new Error("no certificates");
      ca = (await readClientTls(etcd.certificates)).ca;
    });
    afterAll(() => etcd?.stop());
    const connect = createOpener(transport);

    it("trusts the configured authority, for calls and for watches", async () => {
      const store = await connect({ endpoints: etcd.endpoints, tls: { ca } });
      const { revision } = await write(store, put("a"));
      expect(await watchOnce(store, "a", revision)).toMatchObject({ revision });
    });

    it("checks the name in the server's certificate, or the one that is configured", async () => {
      const connectTo = (serverName: string) =>
        connect({ endpoints: etcd.endpoints, tls: { ca, serverName }, timeouts: LATE });
      await (await connectTo("etcd.test")).readRange({ key: "a" });
      const other = await connectTo("other.test");
      expect((await catchRefusal(other.readRange({ key: "a" }))).message).toMatch(
        /: its certificate is for .*etcd\.test.*, not for other\.test; correct the endpoint, or name one/,
      );
    });

    it("refuses certificates that are none, before it connects", async () => {
      const tls = { ca, cert: "-----BEGIN CERTIFICATE-----\nnonsense", key: "nonsense" };
      await expect(connect({ endpoints: etcd.endpoints, tls })).rejects.toBeInstanceOf(ConfigError);
    });
  });

  if (transport === "http") testSkippedVerification();
}

/** etcd3 cannot do this. */
function testSkippedVerification(): void {
  describe("http without verification", () => {
    it("believes any server when told so, and grpc says that it cannot", async () => {
      const etcd = await startEtcd({ tls: {} });
      const options = { endpoints: etcd.endpoints, tls: { insecureSkipVerify: true } };
      const store = await open({ ...options, transport: "http" });
      await store.readRange({ key: "a" });
      store.close();
      await expect(open({ ...options, transport: "grpc" })).rejects.toBeInstanceOf(ConfigError);
      await etcd.stop();
    });
  });
}

export function testPasswords(transport: Transport): void {
  describe(`${transport} with user and password`, () => {
    const user = "runner";
    const password = "s3cret";
    let etcd: EtcdMember;
    beforeAll(async () => {
      const auth = { rootPassword: "r00t", user, password, prefix: "/jobs/" };
      etcd = await startEtcd({ auth });
    });
    afterAll(() => etcd?.stop());
    const connect = createOpener(transport);

    const login = (more: Partial<StoreOptions> = {}) =>
      connect({ endpoints: etcd.endpoints, user, password, allowPlaintextPassword: true, ...more });

    it("does what the role allows, and is told what it does not", async () => {
      const store = await login();
      const { revision } = await write(store, put("/jobs/a", "1"));
      expect((await store.readRange(buildPrefixRange("/jobs/"))).count).toBe(1);
      expect(await catchErrorKind(write(store, put("/other/a")))).toBe("permission");
      expect(await catchErrorKind(store.readRange({ key: "/other/a" }))).toBe("permission");
      expect(await watchOnce(store, "/jobs/a", revision)).toMatchObject({ revision });
      expect(await catchErrorKind(watchOnce(store, "/other/a", revision))).toBe("permission");
    });

    it("reads users and roles as root only", async () => {
      const root = await login({ user: "root", password: "r00t" });
      const { isEnabled, users, roles } = await root.readUsers();
      expect({ isEnabled, users }).toEqual({
        isEnabled: true,
        users: [
          { name: "root", roles: ["root"] },
          { name: user, roles: ["limited"] },
        ],
      });
      expect(roles.find(({ name }) => name === "limited")?.permissions).toEqual([
        { access: "readwrite", key: "/jobs/", rangeEnd: "/jobs0" },
      ]);
      const store = await login();
      expect(await catchErrorKind(store.readUsers())).toBe("permission");
      const anonymous = await connect({ endpoints: etcd.endpoints });
      expect(await catchErrorKind(anonymous.readUsers())).toBe("unauthenticated");
    });

    it("logs in again after the server has forgotten its tokens, for calls and for watches", async () => {
      const store = await login({ timeouts: { total: 30_000 } });
      const watcher = await login({ timeouts: { total: 30_000 } });
      const { revision } = await write(store, put("/jobs/a"));
      await watcher.readRange({ key: "/jobs/a" });
      await etcd.restart();
      expect(await watchOnce(watcher, "/jobs/a", revision)).toMatchObject({ revision });
      await Promise.all([1, 2, 3].map((i) => write(store, put(`/jobs/${i}`))));
    });
  });

  describe(`${transport} where authentication is off`, () => {
    let etcd: EtcdMember;
    beforeAll(async () => {
      etcd = await startEtcd({ quotaBytes: 4 * 1024 * 1024 });
    });
    afterAll(() => etcd?.stop());
    const connect = createOpener(transport);

    it("works although a user is configured", async () => {
      const login = { user: "runner", password: "s3cret", allowPlaintextPassword: true };
      const store = await connect({ endpoints: etcd.endpoints, ...login });
      await write(store, put("a"));
    });

    it("says that the server is full; reads, renewals, revokes and deletes go on", async () => {
      const store = await connect({ endpoints: etcd.endpoints });
      await store.grant(99n, 60);
      await write(store, put("held", "", 99n));
      const fill = async () => {
        // The server knows its size only after a commit, every 100 ms.
        for (let i = 0; i < 500; i += 1) await write(store, put(`fill/${i}`, "x".repeat(400_000)));
      };
      expect(await catchErrorKind(fill())).toBe("noSpace");
      expect(await catchErrorKind(store.grant(100n, 60))).toBe("noSpace");
      expect((await store.renew(99n)).ttl).toBe(60);
      const answer = await write(store, { op: "delete", key: "fill/0" }, { op: "range", key: "held" });
      expect(answer.results).toMatchObject([{ deleted: 1 }, { count: 1 }]);
      const [status] = await store.readMemberStatuses();
      expect(status).toMatchObject({ ok: true, errors: [expect.stringContaining("NOSPACE")] });
      await store.revoke(99n);
      expect((await store.readRange({ key: "held" })).count).toBe(0);
    });
  });
}
