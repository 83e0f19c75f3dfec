// Runs schedules with functions of this program when they are due. SIGTERM lets running tasks end first.
import { connect, Worker } from "signalbox";

const signalbox = await connect();

const worker = new Worker(signalbox, {
  concurrency: 2,
  handlers: {
    // By type. A schedule without a type has its id up to the first dot: "mail" for "mail.digest".
    "/^mail/": async (task) => {
      console.log(`digest for ${task.data.to}, attempt ${task.attempt}`);
    },
    "/^backup/": async (task) => {
      task.signal.throwIfAborted();
      console.log(`${task.id} of ${task.scheduledTime.toISOString()}`);
    },
  },
});
process.once("SIGTERM", () => worker.stop());
await worker.run();
await signalbox.close();
