// Exports for front ends that handle schedules: errors, and the environments of worker files.
export { AlreadyExistsError, NotFoundError } from "../../../schedule/errors.ts";
export { readEnvironments } from "../../../worker/file/worker-file.ts";
