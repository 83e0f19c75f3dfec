// A queue of jobs: producers add schedules that run once, and consumers poll for them. A job that fails runs again.
import { connect } from "signalbox";

const signalbox = await connect();
const { schedules } = signalbox;

const start = new Date(); // the jobs are due at once; a later instant delays them
for (const [index, to] of ["ann", "bob", "cleo"].entries())
  await schedules.set(`invoice.${index}`, {
    ...{ cron: `@at ${start.toISOString()}`, start },
    ...{ data: { to }, retries: 2, backoff: "10ms" },
  });

for (let left = 3; left > 0; ) {
  const job = await schedules.poll({ wait: "1m" });
  if (job === undefined) break;
  if (job.data.to === "bob" && job.attempt === 1) {
    await job.fail("the printer is out of paper"); // it runs again, at most two times
    continue;
  }
  console.log(`invoice for ${job.data.to}, attempt ${job.attempt}`);
  await job.finish();
  await schedules.delete(job.id);
  left -= 1;
}
await signalbox.close();
