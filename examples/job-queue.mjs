// A queue of jobs: producers add them, and consumers poll for them. A job that fails runs again, and one that is done is gone.
import { connect } from "signalbox";

const signalbox = await connect();
const { jobs, schedules } = signalbox;

for (const to of ["ann", "bob", "cleo"]) {
  const options = { key: to, retries: 2, backoff: "10ms" }; // one job for each key, until it is done
  await jobs.add("invoice", { to }, options);
}

for (let left = 3; left > 0; ) {
  const job = await schedules.poll({ wait: "1m" });
  if (job === undefined) break;
  if (job.data.to === "bob" && job.attempt === 1) {
    await job.fail("the printer is out of paper"); // it runs again, at most two times
    continue;
  }
  console.log(`invoice for ${job.data.to}, attempt ${job.attempt}`);
  await job.finish();
  left -= 1;
}
await signalbox.close();
