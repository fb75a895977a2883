//! What the code says: chunks, embeddings, stores, proof, search, outline, call graph.
