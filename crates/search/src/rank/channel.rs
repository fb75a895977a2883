//! The scores that a file has for a text, by name, and what each weighs.

/// One way of saying how well a file fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// The mean of its best chunks.
    Chunks,
    /// The whole file.
    Files,
    /// Its best chunks, asked with the title.
    Title,
    /// Its path.
    Paths,
    /// Whether the text names it.
    Mentioned,
    /// The names that it defines, asked with the beginning.
    Names,
    /// As `Chunks`, by stems.
    StemChunks,
    /// As `Files`, by stems.
    StemFiles,
    /// Commits whose messages fit.
    Commits,
    /// All messages of the commits that changed it.
    Messages,
    /// How near its nearest chunk is, where vectors say more than words.
    Near,
    /// What the others of its folder score.
    Neighbours,
}

/// How many there are.
pub const N_CHANNELS: usize = 12;

impl Channel {
    /// Every channel, in the order of their numbers.
    pub const ALL: [Self; N_CHANNELS] = [
        Self::Chunks,
        Self::Files,
        Self::Title,
        Self::Paths,
        Self::Mentioned,
        Self::Names,
        Self::StemChunks,
        Self::StemFiles,
        Self::Commits,
        Self::Messages,
        Self::Near,
        Self::Neighbours,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chunks => "chunks",
            Self::Files => "files",
            Self::Title => "title",
            Self::Paths => "paths",
            Self::Mentioned => "mentioned",
            Self::Names => "names",
            Self::StemChunks => "stem chunks",
            Self::StemFiles => "stem files",
            Self::Commits => "commits",
            Self::Messages => "messages",
            Self::Near => "near",
            Self::Neighbours => "neighbours",
        }
    }
}

/// What each channel weighs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChannelWeights([f32; N_CHANNELS]);

impl ChannelWeights {
    /// For a text: every channel the same.
    pub const TEXT: Self = Self([1.0; N_CHANNELS]);

    /// What this channel weighs.
    pub fn of(&self, channel: Channel) -> f32 {
        self.0[channel as usize]
    }

    /// The same with another weight for one channel.
    pub fn with(mut self, channel: Channel, weight: f32) -> Self {
        self.0[channel as usize] = weight;
        self
    }
}
