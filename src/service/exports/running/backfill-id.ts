const shown = (time: Date | null, other: string): string => time?.toISOString().replace(/(\.000)?Z$/, '+00:00') ?? other

/** The name of a backfill in answers. */
export const shownBackfillId = (exportId: string, start: Date | null, end: Date | null): string =>
  `${exportId}-Backfill-${shown(start, 'START')}-${shown(end, 'END')}`
