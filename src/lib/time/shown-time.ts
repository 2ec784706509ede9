/** A time in seconds, for people: the fraction is left out. */
export const shownTime = (iso: string): string => `${iso.slice(0, 19).replace('T', ' ')} UTC`

/** The first whole second that is not before the time. */
export const shownFrom = (iso: string): string => shownTime(new Date(Math.ceil(new Date(iso).getTime() / 1_000) * 1_000).toISOString())
