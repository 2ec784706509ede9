/** The function that converts a number to an interval, by unit. */
export const intervalFunctions = {
  second: 'toIntervalSecond',
  minute: 'toIntervalMinute',
  hour: 'toIntervalHour',
  day: 'toIntervalDay',
  week: 'toIntervalWeek',
  month: 'toIntervalMonth',
  quarter: 'toIntervalQuarter',
  year: 'toIntervalYear',
} as const
