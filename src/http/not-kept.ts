/** Marks answers that are empty because Waymark does not keep such things, so that nobody takes them for an empty project. */
export const notKeptHeader = 'x-waymark-not-kept'

export const notKept = (what: string): Readonly<Record<string, string>> => ({ [notKeptHeader]: what })
