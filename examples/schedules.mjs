// Adds a schedule, changes and lists it, then runs its due tasks.
import { AlreadyExistsError, connect } from "signalbox";

const signalbox = await connect();
const { schedules } = signalbox;

try {
  await schedules.add("mail.digest", {
    cron: "0 7 * * mon-fri",
    timezone: "Europe/Berlin",
    data: { to: "team@example.com" },
    catchup: "latest",
  });
} catch (error) {
  if (!(error instanceof AlreadyExistsError)) throw error;
}
await schedules.modify("mail.digest", { delay: "30s" });
for (const { id, cron, nextTime } of await schedules.list()) console.log(id, cron, nextTime?.toISOString());

await schedules.trigger("mail.digest"); // one extra run, now
for (let task = await schedules.poll(); task !== undefined; task = await schedules.poll()) {
  console.log(`${task.id}: mail to ${task.data.to}`);
  await task.finish(); // or: await task.retry("10m")
}
await schedules.delete("mail.digest");
await signalbox.close();
