// Days of a calendar as texts, `2026-03-31`: they have no time, so no zone and no change of clocks can move them.

export type Day = string
/** 0 Sunday, 1 Monday. */
export type WeekStart = 0 | 1

const dayMs = 86_400_000
const daysOfWeek = 7

const timeOf = (day: Day): number => Date.parse(`${day}T00:00:00Z`)
const isDayTime = (time: number): boolean => time >= timeOf('1000-01-01') && time <= timeOf('9999-12-31')
export const isDay = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && isDayTime(timeOf(text)) && textOf(timeOf(text)) === text
const textOf = (time: number): Day => new Date(time).toISOString().slice(0, 10)

/** The day itself where the other one is outside of the years of the calendar. */
export function addDays(day: Day, count: number): Day {
  const time = timeOf(day) + count * dayMs
  return isDayTime(time) ? textOf(time) : day
}

/** The 31st becomes the last day of a shorter month. */
export function addMonths(day: Day, count: number): Day {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  const first = new Date(Date.UTC(year, month - 1 + count, 1))
  const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate()
  const time = first.getTime() + (Math.min(date, last) - 1) * dayMs
  return isDayTime(time) ? textOf(time) : day
}

const weekdayOf = (day: Day): number => new Date(timeOf(day)).getUTCDay()
export const firstOfWeek = (day: Day, weekStart: WeekStart): Day => addDays(day, -((weekdayOf(day) - weekStart + daysOfWeek) % daysOfWeek))
export const isSameMonth = (one: Day, other: Day): boolean => one.slice(0, 7) === other.slice(0, 7)

/** The weeks that a month touches, with the days of its neighbours in the first and the last one. */
export function weeksOfMonth(day: Day, weekStart: WeekStart): readonly (readonly Day[])[] {
  const weeks: Day[][] = []
  for (let first = firstOfWeek(`${day.slice(0, 7)}-01`, weekStart); ; first = addDays(first, daysOfWeek)) {
    if (weeks.length > 0 && !isSameMonth(first, day)) return weeks
    weeks.push(Array.from({ length: daysOfWeek }, (_, i) => addDays(first, i)))
  }
}

/** The seven days of a week, for the heads of its columns. */
export const daysOfAWeek = (weekStart: WeekStart): readonly Day[] =>
  Array.from({ length: daysOfWeek }, (_, i) => addDays(weekStart === 0 ? '2023-01-01' : '2023-01-02', i))

/** The day that a key leads to; null: the key is not one of the calendar. */
export function dayAfterKey(day: Day, key: string, hasShift: boolean, weekStart: WeekStart): Day | null {
  switch (key) {
    case 'ArrowLeft':
      return addDays(day, -1)
    case 'ArrowRight':
      return addDays(day, 1)
    case 'ArrowUp':
      return addDays(day, -daysOfWeek)
    case 'ArrowDown':
      return addDays(day, daysOfWeek)
    case 'Home':
      return firstOfWeek(day, weekStart)
    case 'End':
      return addDays(firstOfWeek(day, weekStart), daysOfWeek - 1)
    case 'PageUp':
      return addMonths(day, hasShift ? -12 : -1)
    case 'PageDown':
      return addMonths(day, hasShift ? 12 : 1)
    default:
      return null
  }
}

/** Two clicks in either order. */
export const rangeOf = (one: Day, other: Day): readonly [first: Day, last: Day] => (one <= other ? [one, other] : [other, one])
