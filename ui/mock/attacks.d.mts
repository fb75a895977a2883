export const ATTACKS: string[]
