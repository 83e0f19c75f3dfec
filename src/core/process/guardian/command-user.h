/* The user of the command, if it is not that of the guardian. */
#pragma once

/*
 * Takes a word "user=UID:GID[:GROUP...]", all numbers, from an administrator's process. Returns -1 with errno if it is
 * none of these.
 */
int user_take(const char *word);

/* Gives the user a pipe that was made for its command, so that it can open it by a name, such as /dev/stderr. */
int user_own(int fd);

/*
 * Makes the calling process one of the user, without a way back: ids, groups, capabilities and session keyring are the user's.
 * Returns -1 with errno if any of it failed; nothing must be executed then.
 */
int user_become(void);
