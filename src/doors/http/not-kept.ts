/** Marks answers that are empty because Waymark does not support the feature, so that they are not taken for an empty project. */
export const notKeptHeader = 'x-waymark-not-kept'

export const notKept = (what: string): Readonly<Record<string, string>> => ({ [notKeptHeader]: what })
