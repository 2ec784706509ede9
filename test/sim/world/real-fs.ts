import nodeFs from 'node:fs'

/** The functions of Node as they were before `builtins.ts`, which imports this first, put others in their place. */
export const realFs = { ...nodeFs }
