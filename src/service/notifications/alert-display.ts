const numbers = new Set(['BoldNumber', 'Metric', 'ActionsPie', 'ActionsBarValue', 'ActionsTable', 'WorldMap', 'RegionMap'])

/** Displays with one number for the whole range. */
export const isNumberPerRange = (display: string | null): boolean => display !== null && numbers.has(display)
