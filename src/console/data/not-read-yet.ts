/** Shown in place of rows until something was read. An unread cluster is not an empty one. */
export const NOT_READ_YET = "No data yet: etcd has not been read.";
