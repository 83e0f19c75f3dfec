// Tests of a program without etcd: `node --test testing.test.mjs`
import assert from "node:assert/strict";
import { test } from "node:test";
import { openTestSignalbox } from "signalbox/testing";

/** The code under test. In production, `signalbox` comes from `connect`. */
async function declareSchedules(signalbox) {
  await signalbox.schedules.sync(
    { "mail.digest": { cron: "0 7 * * mon-fri", data: { to: "team@example.com" } } },
    { source: "mail-service" },
  );
}

test("the digest is sent on each day of the week", async () => {
  const signalbox = openTestSignalbox({ now: "2026-03-02T00:00Z" }); // a Monday
  const sent = [];
  await declareSchedules(signalbox);
  const ran = await signalbox.runUntil("2026-03-09T00:00Z", {
    handlers: { mail: ({ data, scheduledTime }) => sent.push(`${scheduledTime.toISOString()} ${data.to}`) },
  });
  assert.equal(ran.length, 5);
  assert.equal(sent[0], "2026-03-02T07:00:00.000Z team@example.com");
  await signalbox.close();
});

test("only one program exports at a time", async () => {
  const signalbox = openTestSignalbox();
  await signalbox.withLock("export", async () => {
    await assert.rejects(
      signalbox.withLock("export", () => {}),
      { code: "BUSY" },
    );
  });
  await signalbox.close();
});
