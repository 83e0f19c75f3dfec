/**
 * Longest value that is read as a history or a host record, in UTF-16 code units. signalbox writes at most a tenth of it there. Users of
 * the runner role can write up to the limit of etcd, 1.5 MB, into each key.
 */
export const LONGEST_VALUE = 256 * 1024;
