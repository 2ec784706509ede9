export const watchNames = ['silence', 'flood', 'quota', 'backup', 'disk', 'export', 'plugin'] as const
export type WatchName = (typeof watchNames)[number]
