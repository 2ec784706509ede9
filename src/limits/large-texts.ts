/** Texts beyond this share what a store has for large ones: the engine reads 2,048 rows at a time, with all of their texts. */
export const ordinaryLength = 8_192

/** Characters that count as large. */
export const excessOf = (length: number): number => Math.max(0, length - ordinaryLength)
