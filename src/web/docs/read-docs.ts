/// <reference types="vite/types/importMeta.d.ts" />

// Each document is a file of its own in the bundle, and loaded when it is opened or searched.

const files = import.meta.glob<string>('../../../docs/*.md', { query: '?raw', import: 'default' })

/** Null: there is none of that name. */
export const readDoc = async (name: string): Promise<string | null> => (await files[`../../../docs/${name}.md`]?.()) ?? null
