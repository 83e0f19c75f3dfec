// What front ends that know schedules read, and tell apart, as our own commands do.
export { AlreadyExistsError, NotFoundError } from "../../schedule/errors.ts";
export { type Path, Sheet, shown } from "../../work/worker/sheet.ts";
export { environmentsOf } from "../../work/worker/worker-file.ts";
