import { COLORS, kind } from './kind.ts';

export const BICYCLES = [
  kind({
    category: 'велосипеды и самокаты',
    weight: 54,
    gender: 'm',
    wear: 'plain',
    noun: 'велосипед',
    english: 'bicycle',
    models: `
      Stels: Navigator 610~стелс 17000 x3; Navigator 300 14000 x2; Pilot 710 15000; Miss 5000 16000
      Forward: Apache 27~форвард 19000 x2; Sporting 27 21000; Valencia 13000
      Merida: Big Nine~мерида 52000; Matts 33000
      Trek: Marlin 5~трек 48000; Marlin 7 66000
      Giant: Talon 3~гиант 46000; Escape 49000
      Cube: Aim~кубе 44000; Attention 62000
      Format: 1414 34000; 5213 41000
      Stern: Energy 16000 x2; Motion 20000
      Altair: MTB HT 15000; City 13000
      -: детский 5500 x3; складной 9500 x2; горный 12000; дорожный Урал 4000; трёхколёсный детский 3500
    `,
    slots: {
      frame: '16; 17; 18; 19; 20; 21',
      speeds: '7; 18; 21; 24',
      color: COLORS,
      extra:
        'крылья и багажник=mudguards and a rack; фонарь и звонок=a light and a bell; замок=a lock; насос=a pump; подножка=a kickstand',
    },
    titles: `
      Велосипед $full
      Велосипед $full, рама $frame
      Велик $full, $speeds скоростей
      $Color велосипед $full
    `,
    about: `
      ~ [Тормоза дисковые|Тормоза настроены|Вилка блокируется], цвет $color:m, [обслужен перед сезоном|цепь и кассета живые]
      ~ В подарок $extra, [хранился дома|хранился на балконе|стоял в гараже]
      ~ [Катались по парку|Проехал один сезон|Ездили на дачу за хлебом], велосипед [сел и поехал|вложений не требует]
      ~ Колёса [без восьмёрок|ровные], [резина хорошая|покрышки менял весной]
      Цвет $color:m, рама $frame, скоростей $speeds, [тормоза дисковые|вилка амортизационная]
      В подарок $extra, цвет $color:m, [рама алюминиевая|рама стальная, вечная]
    `,
    titlesEn: `
      $full bicycle
      $Color bike $full
    `,
    aboutEn: `
      ~ Brakes and gears adjusted, $color, ready to ride
      ~ Comes with $extra, [kept indoors|used for one season]
      ~ The bicycle needs nothing but a rider
      $color, $speeds speeds, comes with $extra
    `,
  }),
  kind({
    category: 'велосипеды и самокаты',
    weight: 28,
    gender: 'm',
    wear: 'device',
    noun: 'электросамокат',
    english: 'electric scooter',
    models: `
      Xiaomi: Mi Electric Scooter 3~сяоми 29000 x3; Scooter 4 Pro 44000 x2; Essential 21000
      Ninebot: Max G30~найнбот макс 45000 x2; KickScooter F40 37000; E22 24000
      Kugoo: S3~куго с3 16000 x2; M4 Pro~куго м4 47000; Kirin G2 60000
      White Siberia: Pro 41000
    `,
    slots: { km: '20; 25; 30; 35; 40', run: '150; 320; 480; 700; 1100' },
    titles: `
      Электросамокат $full
      Электросамокат $full, пробег $run км
      $alias, электросамокат
    `,
    about: `
      ~ Пробег $run км, на одном заряде проезжает около $km км, [в дождь не ездил|батарея родная]
      ~ [Зарядка и документы есть|Стоит усиленное крыло|Замок отдам], [подкачать колёса и ехать|тормоза отрегулированы]
      На одном заряде проезжает около $km км, [складывается|влезает в багажник|есть приложение]
      [Зарядка и документы|Коробка и зарядка], запас хода до $km км
    `,
    titlesEn: `
      $full electric scooter
      Electric scooter $full, $run km
    `,
    aboutEn: `
      ~ $run km on the clock, about $km km on a charge
      ~ Never ridden in the rain, charger included
      About $km km on a charge, folds, charger included
    `,
  }),
];
