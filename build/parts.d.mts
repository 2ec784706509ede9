export function removeOldParts(folder: string, now: readonly string[], isAlone?: boolean): Promise<void>
