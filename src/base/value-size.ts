/**
 * Maximum length of a value that is read as a history or a host record, in UTF-16 code units. signalbox writes at most a
 * tenth of that there, but users of the runner role can write up to etcd's limit of 1.5 MB to each key.
 */
export const LONGEST_VALUE = 256 * 1024;
