/** A change of a key of another program: once, only what was read, and never a key of signalbox. */
import { describe, expect, it } from "vitest";
import type { Txn } from "../../../src/core/protocol/txn.ts";
import { type EditPorts, editKey } from "../../../src/site/operate/edit-key.ts";
import { keys } from "../../core/protocol/samples.ts";
import { type Fate, OperatorFixture } from "./operator-fixture.ts";

const KEY = "/foreign/x";

class Editor extends OperatorFixture {
  getEditPorts(settings: { allowEdit: boolean; readOnly?: boolean } = { allowEdit: true }): EditPorts {
    return { ...this.ports, settings: { connectTimeout: 5_000, readOnly: false, ...settings } };
  }

  async read() {
    const { kvs, revision } = await this.store.readRange({ key: KEY });
    return { kv: kvs[0], revision };
  }

  /** Changes the key as it is now. */
  async edit(value: string | undefined, ports = this.getEditPorts()) {
    const { kv, revision } = await this.read();
    const edit = { key: KEY, value, before: kv, seen: revision, reason: undefined };
    return await this.advanceUntilSettled(editKey(ports, edit));
  }
}

describe("an edit", () => {
  it.each<Fate[]>([["fine"], ["lost"], ["refused", "lost"], ["lost", "lost"]])(
    "is applied and recorded once when its answers are %s, %s",
    async (...fates) => {
      const editor = new Editor();
      await editor.put(KEY, "1");
      editor.store.fates.push(...fates.filter(Boolean));
      expect((await editor.edit("22")).kind).toBe("done");
      expect((await editor.read()).kv).toMatchObject({ value: "22", version: 2n });
      editor.store.fates.push(...fates.filter(Boolean));
      expect((await editor.edit(undefined)).kind).toBe("done");
      expect((await editor.read()).kv).toBeUndefined();
      expect(await editor.listRecords()).toMatchObject([
        { outcome: "changed from 1 byte to 2 bytes" },
        { outcome: "deleted, it had 2 bytes" },
      ]);
    },
  );

  it("that etcd receives once more later changes nothing", async () => {
    const editor = new Editor();
    await editor.put(KEY, "1");
    const commit = editor.store.commitTxn.bind(editor.store);
    const sent: Txn[] = [];
    editor.store.commitTxn = async (txn, signal) => {
      sent.push(txn);
      return await commit(txn, signal);
    };
    await editor.edit("2");
    const [txn] = sent;
    await editor.put(KEY, "3");
    expect(txn && (await commit(txn)).succeeded).toBe(false);
    expect((await editor.read()).kv?.value).toBe("3");
  });

  it("of a key that was changed, deleted or created since is not applied", async () => {
    const editor = new Editor();
    const ports = editor.getEditPorts();
    const absent = { key: KEY, before: undefined, seen: 0n, reason: undefined };
    await editor.put(KEY, "1");
    expect((await editKey(ports, { ...absent, value: "x" })).kind).toBe("changed");
    const { kv: before } = await editor.read();
    await editor.put(KEY, "2");
    expect((await editKey(ports, { ...absent, before, value: undefined })).kind).toBe("changed");
    await editor.edit(undefined);
    expect((await editKey(ports, { ...absent, before, value: "x" })).kind).toBe("changed");
    expect((await editor.read()).kv).toBeUndefined();
    expect(await editor.listRecords()).toHaveLength(1);
  });

  it("keeps the session of a key", async () => {
    const editor = new Editor();
    await editor.store.grant(7n, 60);
    const put = { op: "put", key: KEY, value: "1", session: 7n } as const;
    await editor.store.commitTxn({ compare: [], success: [put], failure: [] });
    await editor.edit("2");
    expect((await editor.read()).kv).toMatchObject({ value: "2", session: 7n });
  });

  it.each([
    [{ allowEdit: false }, "--allow-edit"],
    [{ allowEdit: true, readOnly: true }, "readOnly is set"],
  ])("with %j is refused", async (settings, message) => {
    const editor = new Editor();
    await expect(editor.edit("x", editor.getEditPorts(settings))).rejects.toMatchObject({
      exitCode: 77,
      message: expect.stringContaining(message),
    });
    expect((await editor.read()).kv).toBeUndefined();
  });

  it("of a key of signalbox is a defect of the caller", async () => {
    const editor = new Editor();
    const edit = { key: keys.group("web"), value: "[]", before: undefined, seen: 0n, reason: undefined };
    await expect(editKey(editor.getEditPorts(), edit)).rejects.toThrow("never edited");
  });
});
