//! Landmarks, weighted dictionaries, sketches and Nyström approximations of psd matrices.
