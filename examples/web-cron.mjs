// A web service of which each copy declares the same schedules at its start. Each occurrence runs once, on one of the copies.
import { createServer } from "node:http";
import { connect, Worker } from "signalbox";

const signalbox = await connect();
let digests = 0;
const worker = new Worker(signalbox, {
  handlers: {
    digest: () => {
      digests += 1;
    },
  },
});
worker.on("ended", ({ id, result }) => console.log(`${id}: ${result}`));

await signalbox.schedules.sync(
  { "digest.daily": { cron: "0 7 * * mon-fri", timezone: "Europe/Berlin", catchup: "latest" } },
  { source: "web-service" },
);
const server = createServer((_, response) => response.end(`${digests} digests\n`));
server.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () => console.log(`port ${server.address().port}`));

process.once("SIGTERM", () => {
  server.close();
  worker.stop(); // lets running tasks end
});
await worker.run();
await signalbox.close();
